import Foundation

/// A JSON document as text. Members keep their order, so that replies depend on the test only.
struct JSONDocument: Sendable {
    let text: String

    static let null = JSONDocument(text: "null")

    static func bool(_ value: Bool) -> JSONDocument { JSONDocument(text: value ? "true" : "false") }

    static func number(_ value: Int) -> JSONDocument { JSONDocument(text: String(value)) }

    static func string(_ value: String) -> JSONDocument {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // A string of Swift always has a form in JSON.
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        return JSONDocument(text: String(decoding: data, as: UTF8.self))
    }

    /// A document of a client as it came; nil if it is none.
    static func document(_ data: Data) -> JSONDocument? {
        guard let text = String(validating: data, as: UTF8.self),
            (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
        else { return nil }
        return JSONDocument(text: text)
    }

    static func array(_ values: [JSONDocument]) -> JSONDocument {
        JSONDocument(text: "[" + values.map(\.text).joined(separator: ", ") + "]")
    }

    static func object(_ members: [(name: String, value: JSONDocument)]) -> JSONDocument {
        JSONDocument(
            text: "{" + members.map { "\(string($0.name).text): \($0.value.text)" }.joined(separator: ", ") + "}"
        )
    }

    /// An object of names and values. A name that occurs several times has an array.
    static func grouped(_ pairs: [(name: String, value: String)]) -> JSONDocument {
        var order: [String] = []
        var values: [String: [String]] = [:]
        for (name, value) in pairs {
            if values[name] == nil { order.append(name) }
            values[name, default: []].append(value)
        }
        return object(
            order.map { name in
                let all = values[name, default: []].map { string($0) }
                return (name, all.count == 1 ? all[0] : array(all))
            }
        )
    }
}
