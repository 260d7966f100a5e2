import AFWire

/// What a request says about the form in which it is sent.
struct WireForm: Sendable, Hashable {
    var version = HTTPVersion.http11
    /// Fields of the session that it goes without, by their names in lower case.
    var withheld: Set<String> = []
    /// Its field `Cookie` goes behind the cookies of the store.
    var addsStoredCookies = false
}

/// The same in the room of a reference: nearly every request leaves it at the usual.
enum OwnWire: Sendable, Hashable {
    case usual
    indirect case own(WireForm)

    var value: WireForm {
        get { if case .own(let form) = self { form } else { WireForm() } }
        set { self = newValue == WireForm() ? .usual : .own(newValue) }
    }

    var version: HTTPVersion { if case .own(let form) = self { form.version } else { .http11 } }

    /// Nil if there are none.
    var withheld: Set<String>? {
        guard case .own(let form) = self, !form.withheld.isEmpty else { return nil }
        return form.withheld
    }
}
