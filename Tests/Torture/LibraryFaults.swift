import AFTorture
import CAFLibraryFaults

/// Faults of the functions of OpenSSL and zlib that this library calls, and of their memory.
struct LibraryFaults: FaultSource {
    let faults: [Fault] = (0..<cafl_count()).flatMap { number in
        let name = String(cString: cafl_name(number))
        if cafl_is_memory(number) {
            // OpenSSL loses blocks of its own without: `OSSL_LIB_CTX_new` ten of them.
            return [Fault(name, number, .answers(Int(CAFL_NO_MEMORY.rawValue)), "none", mayLoseMemory: true)]
        }
        return [
            Fault(name, number, .answers(Int(CAFL_FAILS.rawValue)), "fails"),
            Fault(name, number, .answers(Int(CAFL_FAILS_OTHERWISE.rawValue)), "fails-otherwise"),
        ]
    }

    /// Takes care of OpenSSL's memory. Before OpenSSL is used for the first time.
    static func begin() -> Bool { cafl_take_memory() }

    func watch() { cafl_watch() }

    func arm(_ point: FaultPoint) {
        guard case .answers(let way) = point.fault.effect else { return }
        cafl_arm(point.fault.number, cafl_way(UInt32(way)), point.ordinal)
    }

    func disarm() { cafl_disarm() }
    func calls(of number: Int32) -> Int { cafl_calls(number) }
    var hasFired: Bool { cafl_fired() }
    var offences: Int { 0 }
    var heldBlocks: Int { cafl_held() }

    func spare<Result>(_ body: () throws -> Result) rethrows -> Result {
        cafl_spare(1)
        defer { cafl_spare(-1) }
        return try body()
    }
}
