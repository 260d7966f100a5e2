import AFURLSession
import Foundation

let session = URLSession(configuration: .default)
guard let url = URL(string: CommandLine.arguments.dropFirst().first ?? "") else { exit(2) }
for _ in 0..<3 {
    do {
        let (data, response) = try await session.data(from: url)
        print(response, data.count)
    } catch {
        print(error)
    }
}
