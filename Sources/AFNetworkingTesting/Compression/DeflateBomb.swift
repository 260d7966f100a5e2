import CAFZlib

/// Zero bytes compressed as well as the format allows, about 1000 to 1. The zeros are never made.
///
/// Behind a full flush nothing refers to what was before, so one compressed run of zeros stands for as many as are wanted.
struct DeflateBomb {
    /// How many zero bytes one run stands for. Each begins with some bytes that say how it is coded.
    private static let runLength = 1 << 25
    private static let run: [UInt8] = {
        let deflate = Deflate(windowBits: -15, level: 9)
        let (piece, pieces) = ([UInt8](repeating: 0, count: 1 << 16), runLength >> 16)
        return (1...pieces).flatMap { deflate.compress(piece, flush: $0 == pieces ? Z_FULL_FLUSH : Z_NO_FLUSH) }
    }()

    /// The bytes before the runs, one run, how long all of them are, and the bytes behind them.
    var start: [UInt8] = []
    let run: [UInt8]
    let length: Int
    var end: [UInt8]

    init(count: Int) {
        let runs = count / Self.runLength
        run = runs > 0 ? Self.run : []
        length = run.count * runs
        let rest = [UInt8](repeating: 0, count: count % Self.runLength)
        end = Deflate(windowBits: -15, level: 9).compress(rest, flush: Z_FINISH)
    }
}
