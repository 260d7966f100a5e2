import AFURLSession
package import Foundation

/// `--time-cond`: a date, or the name of a file whose date it is.
package struct TimeCondition: Sendable, Equatable {
    package let text: String
    /// Whether the resource must not have changed since.
    package let isUnless: Bool

    /// Nil if the text is no date, and there is no such file. The transfer may make the file.
    package let date: Date?

    init(_ given: String) {
        isUnless = given.hasPrefix("-")
        let text = isUnless || given.hasPrefix("+") ? String(given.dropFirst()) : given
        let seconds = Descriptor.modificationTime(of: text).map(TimeInterval.init)
        self.text = text
        date = LooseDate(text)?.date ?? seconds.map(Date.init(timeIntervalSince1970:))
    }

    /// Whether a resource of this time is to be loaded. Servers may ignore the fields.
    func isMet(by changed: Date) -> Bool {
        guard let date else { return true }
        return isUnless ? changed <= date : changed > date
    }

    func prepare(_ request: inout URLRequest) {
        guard let date else { return }
        let name = isUnless ? "If-Unmodified-Since" : "If-Modified-Since"
        request.setValue(HTTPDateText.text(date), forHTTPHeaderField: name)
    }
}
