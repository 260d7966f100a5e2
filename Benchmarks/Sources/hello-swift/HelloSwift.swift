import AFURLSession
import FoundationEssentials
import Glibc

/// One request, and the size of its answer: the cold start of our client.
///
/// usage: hello-swift URL [CA_FILE]
@main
struct HelloSwift {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count > 1, let url = URL(string: words[1]) else { end("usage: hello-swift URL [CA_FILE]", 2) }
        do {
            let configuration = URLSessionConfiguration.ephemeral
            if words.count > 2 { configuration.tls.anchors = try .file(words[2]) }
            let (data, response) = try await URLSession(configuration: configuration).data(from: url)
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { end("not 200: \(response)", 1) }
            say("\(data.count)", to: STDOUT_FILENO)
        } catch {
            end("\(error)", 1)
        }
        _exit(0)
    }

    private static func end(_ message: String, _ status: Int32) -> Never {
        say("hello-swift: \(message)", to: STDERR_FILENO)
        exit(status)
    }

    private static func say(_ text: String, to file: Int32) {
        var line = text + "\n"
        _ = line.withUTF8 { write(file, $0.baseAddress, $0.count) }
    }
}
