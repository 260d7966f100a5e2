/// The query, or the body of a form, that parameters make.
///
/// ```swift
/// let query = queryString(from: ["name": "Ada", "langs": ["en", "fr"], "at": ["x": 1]])
/// #expect(query == "at%5Bx%5D=1&langs%5B%5D=en&langs%5B%5D=fr&name=Ada")
/// ```
///
/// Dictionaries are sorted by their keys and become `key[nested]`, arrays `key[]` for each element, sets the same key
/// for each element, sorted by their descriptions. `NSNull` and nil become the key alone, without `=`. All else becomes
/// its description: true is `1`, false is `0`, and numbers are as short as can be. Keys need not be text. Parameters
/// that are no dictionary have fields without a name. What is nested more than 512 deep is left out, and from
/// the thousandth time on all that follows; request serializers refuse it.
public func queryString(from parameters: Any) -> String {
    ParameterPairs(parameters, mostCuts: 1000).cutQuery
}
