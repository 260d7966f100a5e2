import AFBase
import AFState
import AFURLTypes

/// What a download in parts knows beside the bytes of its file: enough to go on in another process.
///
/// It stands twice behind the bytes of the file, so that a process that dies while it writes one leaves the other.
struct PartsRecord: Hashable, Sendable {
    /// The digest of the request's URL, which may hold a secret.
    var source: [UInt8]
    var validator: ResumeValidator
    var total: Int64
    /// The digest of the scope under which all bytes came.
    var scope: [UInt8]
    /// What is not in the file, in order.
    var missing: [Range<Int64>]
    /// The start of the system under which this is true, since what the system has not written to the disk ends with it.
    /// Nil if all bytes are on the disk.
    var boot: [UInt8]?

    /// The room that each of the two has.
    static let slotSize = 16 << 10
    private static let magic = Array("AFparts\u{1}".utf8)

    /// Nil if it has no room.
    func encoded(number: UInt64) -> [UInt8]? {
        var fields = FieldWriter()
        fields.add(number: number)
        fields.add(source)
        fields.add(validator.fieldValue.utf8)
        fields.add(number: total)
        fields.add(scope)
        fields.add(boot ?? [])
        for range in missing {
            fields.add(number: range.lowerBound)
            fields.add(number: range.upperBound)
        }
        var record = FieldWriter()
        record.add(raw: PartsRecord.magic)
        record.add(fields.bytes)
        record.add(number: FNV1a.of(record.bytes))
        return record.bytes.count <= PartsRecord.slotSize ? record.bytes : nil
    }

    private init?(_ slot: ArraySlice<UInt8>, number: inout UInt64) {
        var record = FieldReader(slot)
        guard let magic = record.take(PartsRecord.magic.count), magic.elementsEqual(PartsRecord.magic),
            let bytes = record.field(), let digest = record.number(UInt64.self),
            FNV1a.of(slot.prefix(PartsRecord.magic.count + 4 + bytes.count)) == digest
        else { return nil }
        var fields = FieldReader(bytes[...])
        guard let count = fields.number(UInt64.self), let source = fields.field(),
            let validator = fields.field().flatMap({ ResumeValidator(fieldValue: String(decoding: $0, as: UTF8.self)) }
            ),
            let total = fields.number(Int64.self), let scope = fields.field(), !scope.isEmpty, let boot = fields.field()
        else { return nil }
        var missing: [Range<Int64>] = []
        while !fields.isAtEnd {
            guard let first = fields.number(Int64.self), let end = fields.number(Int64.self),
                first >= missing.last?.upperBound ?? 0, first < end, end <= total
            else { return nil }
            missing.append(first..<end)
        }
        self.init(
            source: source,
            validator: validator,
            total: total,
            scope: scope,
            missing: missing,
            boot: boot.isEmpty ? nil : boot
        )
        number = count
    }

    init(
        source: [UInt8],
        validator: ResumeValidator,
        total: Int64,
        scope: [UInt8],
        missing: [Range<Int64>],
        boot: [UInt8]? = nil
    ) {
        (self.source, self.validator, self.total) = (source, validator, total)
        (self.scope, self.missing, self.boot) = (scope, missing, boot)
    }

    /// The record that was written last, and its number. Nil if neither of the two is whole.
    static func latest(in slots: [UInt8]) -> (record: PartsRecord, number: UInt64)? {
        [slots.prefix(slotSize), slots.dropFirst(slotSize)].compactMap { slot in
            var number: UInt64 = 0
            return PartsRecord(slot, number: &number).map { ($0, number) }
        }.max { $0.1 < $1.1 }
    }
}
