/// Parameters that are deep and wide at once. Swift's collections cannot hold themselves; those of Foundation can, but
/// on Linux Foundation itself runs out of stack when such a collection is read.
@Suite struct DeepParametersTests {
    /// As a tree each has 2⁶⁰⁰ leaves.
    private static var trees: [Any] {
        var (array, dictionary): (Any, [String: Any]) = ("x", ["k": "x"])
        for _ in 0..<600 {
            array = [array, array]
            dictionary = ["k": dictionary, "l": dictionary]
        }
        return [array, dictionary]
    }

    @Test(.timeLimit(.minutes(5)))
    func `T-REQ-24 parameters that are deep and wide are an error of every serializer, at once`() {
        for serializer in [HTTPRequestSerializer(), JSONRequestSerializer(), PropertyListRequestSerializer()] {
            for tree in Self.trees {
                for method in ["GET", "POST"] {
                    let error = serializer.failure(["a": "b", "k": tree], method: method)
                    #expect(error?.code == -1016, "\(type(of: serializer)) \(method)")
                    #expect(error?.domain == HTTPRequestSerializer.errorDomain)
                }
                let error = #expect(throws: NSError.self) {
                    try serializer.multipartFormRequest(
                        withMethod: "POST",
                        urlString: "http://h.test/",
                        parameters: ["k": tree],
                        constructingBodyWith: nil
                    )
                }
                #expect(error?.code == -1016)
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `T-REQ-24 a query ends with what is deep and wide`() {
        for tree in Self.trees { #expect(HTTPRequestSerializer.queryString(from: ["a": 1, "k": tree]) == "a=1") }
    }
}
