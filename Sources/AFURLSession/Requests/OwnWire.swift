import AFWire

/// The form in which a request asks to be sent.
struct WireForm: Sendable, Hashable {
    var version = HTTPVersion.http11
    /// Fields of the session that the request does without, by their names in lower case.
    var withheld: Set<String> = []
    /// Whether its field `Cookie` goes out behind the cookies of the store.
    var addsStoredCookies = false
}

/// The same in the space of a reference: nearly every request keeps the defaults.
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
