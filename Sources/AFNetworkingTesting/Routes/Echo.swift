import Foundation

/// A request as JSON.
enum Echo {
    static func of(_ request: RecordedRequest) -> JSONDocument {
        let form = ReceivedForm(request.body, type: request.headers["Content-Type"] ?? "")
        return .object([
            ("args", arguments(of: request)),
            ("data", .string(form == nil ? text(request.body) : "")),
            ("files", .grouped((form?.files ?? []).map { ($0.name, text($0.content)) })),
            ("form", .grouped(form?.fields ?? [])),
            ("headers", headers(of: request)),
            ("json", JSONDocument.document(request.body) ?? .null),
            ("method", .string(request.method)),
            ("url", .string(request.absoluteTarget)),
        ])
    }

    static func arguments(of request: RecordedRequest) -> JSONDocument {
        .grouped(request.queryItems.map { ($0.name, $0.value ?? "") })
    }

    static func headers(of request: RecordedRequest) -> JSONDocument {
        .grouped(request.headers.fields.map { ($0.name, $0.value) })
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? "data:application/octet-stream;base64," + Data(bytes).base64EncodedString()
    }
}
