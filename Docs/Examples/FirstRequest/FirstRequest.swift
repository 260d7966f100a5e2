import AFNetworking

/// A first request: `swift run FirstRequest https://example.com/`. Needs none of the libraries for pictures or XML.
@main struct FirstRequest {
    static func main() async {
        let url = CommandLine.arguments.dropFirst().first ?? "https://example.com/"
        let manager = HTTPSessionManager.manager()
        manager.responseSerializer = HTTPResponseSerializer()
        do {
            let answer = try await manager.get(url)
            print(answer.response?.statusCode ?? 0)
        } catch {
            print(error)
        }
    }
}
