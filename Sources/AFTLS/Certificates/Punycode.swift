/// The encoding of international labels (RFC 3492), to tell real ones from those that only look so.
package enum Punycode {
    private static let base: UInt32 = 36
    private static let tMin: UInt32 = 1
    private static let tMax: UInt32 = 26

    /// Whether a label, in lower case and without its `xn--`, decodes to something
    /// that is not plain ASCII and encodes back to the same bytes.
    ///
    /// A label that decodes to ASCII would be a second spelling of another name. One with
    /// capitals, spaces or invisible marks is what no conversion of a name gives (UTS 46).
    static func isCanonical(_ label: some Collection<UInt8>) -> Bool {
        guard let scalars = decode(label), scalars.contains(where: { $0 >= 0x80 }),
            scalars.allSatisfy(mayStandInName)
        else { return false }
        return encode(scalars).map { $0.elementsEqual(label) } ?? false
    }

    private static func mayStandInName(_ value: UInt32) -> Bool {
        switch Unicode.Scalar(value)?.properties.generalCategory {
        case nil, .uppercaseLetter, .titlecaseLetter, .control, .privateUse, .surrogate, .unassigned: false
        case .lineSeparator, .paragraphSeparator, .spaceSeparator: false
        // Joiners change the shape of some scripts and are part of their names.
        case .format: value == 0x200C || value == 0x200D
        default: true
        }
    }

    /// Nil for anything malformed or beyond Unicode.
    static func decode(_ label: some Collection<UInt8>) -> [UInt32]? {
        let bytes = Array(label)
        let delimiter = bytes.lastIndex(of: UInt8(ascii: "-"))
        // A delimiter without anything before it is not written.
        guard delimiter != 0 else { return nil }
        var output = bytes[..<(delimiter ?? 0)].map(UInt32.init)
        guard output.allSatisfy({ $0 < 0x80 }) else { return nil }
        var rest = bytes[(delimiter.map { $0 + 1 } ?? 0)...]
        var (scalar, index, bias): (UInt32, UInt32, UInt32) = (128, 0, 72)
        while !rest.isEmpty {
            guard let step = number(&rest, bias: bias) else { return nil }
            let (sum, overflow) = index.addingReportingOverflow(step)
            let count = UInt32(output.count) + 1
            guard !overflow else { return nil }
            bias = adapted(step, count: count, isFirst: index == 0)
            scalar = scalar.addingReportingOverflow(sum / count).partialValue
            guard sum / count <= 0x10FFFF, scalar <= 0x10FFFF, Unicode.Scalar(scalar) != nil else { return nil }
            index = sum % count
            output.insert(scalar, at: Int(index))
            index += 1
        }
        return output
    }

    /// Nil for what does not fit the arithmetic of RFC 3492.
    package static func encode(_ scalars: [UInt32]) -> [UInt8]? {
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basic = UInt32(output.count)
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (scalar, delta, bias, handled): (UInt32, UInt32, UInt32, UInt32) = (128, 0, 72, basic)
        while Int(handled) < scalars.count {
            guard let next = scalars.filter({ $0 >= scalar }).min() else { return nil }
            let (skipped, overflow) = (next - scalar).multipliedReportingOverflow(by: handled + 1)
            guard !overflow, delta <= UInt32.max - skipped - UInt32(scalars.count) else { return nil }
            delta += skipped
            scalar = next
            for other in scalars {
                if other < scalar { delta += 1 }
                guard other == scalar else { continue }
                output += digits(of: delta, bias: bias)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            scalar += 1
        }
        return output
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, bias: UInt32) -> UInt32? {
        var (value, weight, position): (UInt32, UInt32, UInt32) = (0, 1, base)
        while let byte = rest.popFirst() {
            guard let digit = digit(byte) else { return nil }
            let (part, partOverflow) = digit.multipliedReportingOverflow(by: weight)
            let (sum, sumOverflow) = value.addingReportingOverflow(part)
            guard !partOverflow, !sumOverflow else { return nil }
            value = sum
            let threshold = threshold(position, bias: bias)
            if digit < threshold { return value }
            let (heavier, overflow) = weight.multipliedReportingOverflow(by: base - threshold)
            guard !overflow else { return nil }
            weight = heavier
            position += base
        }
        return nil
    }

    private static func digits(of number: UInt32, bias: UInt32) -> [UInt8] {
        var (rest, position, output): (UInt32, UInt32, [UInt8]) = (number, base, [])
        while true {
            let threshold = threshold(position, bias: bias)
            if rest < threshold { return output + [character(rest)] }
            output.append(character(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
    }

    private static func threshold(_ position: UInt32, bias: UInt32) -> UInt32 {
        position <= bias + tMin ? tMin : position >= bias + tMax ? tMax : position - bias
    }

    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var steps: UInt32 = 0
        while rest > (base - tMin) * tMax / 2 {
            rest /= base - tMin
            steps += base
        }
        return steps + (base - tMin + 1) * rest / (rest + 38)
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 97
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 22
        default: nil
        }
    }

    private static func character(_ digit: UInt32) -> UInt8 { UInt8(digit < 26 ? digit + 97 : digit + 22) }
}
