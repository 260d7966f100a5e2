import Dispatch
import Foundation
import FoundationNetworking
import Glibc

/// One request with the URLSession of FoundationNetworking.
///
/// usage: hello-fn URL
@main
struct HelloFN {
    static func main() {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
            say("usage: hello-fn URL", to: STDERR_FILENO)
            exit(2)
        }
        let task = URLSession.shared.dataTask(with: url) { data, response, error in
            let isGood = (response as? HTTPURLResponse)?.statusCode == 200
            say(
                isGood ? "\(data?.count ?? 0)" : "hello-fn: \(String(describing: error))",
                to: isGood ? STDOUT_FILENO : STDERR_FILENO
            )
            _exit(isGood ? 0 : 1)
        }
        task.resume()
        DispatchSemaphore(value: 0).wait()
    }

    private static func say(_ text: String, to file: Int32) {
        var line = text + "\n"
        _ = line.withUTF8 { write(file, $0.baseAddress, $0.count) }
    }
}
