/// One field of a query or a form.
struct ParameterPair {
    let field: String
    /// Nil for null, which is not the same as empty text.
    let value: Any?

    var escaped: String {
        let name = PercentEscaping.escaped(field)
        return value.map { "\(name)=\(PercentEscaping.escaped(ParameterText.of($0)))" } ?? name
    }
}
