import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Downloads {
    private static let parts: DownloadParts = {
        var parts = DownloadParts(3)
        parts.smallestSize = 20_000
        return parts
    }()

    /// Files that are fetched in parts. Whatever fails: the file is whole, or not there.
    static let parted: [Scenario] = [
        Scenario(.download, "in-parts") { stage in
            let server = try server(on: stage)
            let session = session(on: stage, server)
            let file = stage.folder.appending(path: "file")
            await stage.step("download") {
                try await session.download(from: server.url("/file"), to: file, inParts: parts)
                stage.demand(try Data(contentsOf: file) == body, "bytes that are not the file")
            }
            // Whatever the first one has left, the next one ends with the file.
            await stage.step("download again") {
                try await session.download(from: server.url("/file"), to: file, inParts: parts)
                stage.demand(try Data(contentsOf: file) == body, "bytes that are not the file, again")
            }
            if let content = try? Data(contentsOf: file) { stage.demand(content == body, "a file that is not whole") }
        }
    ]
}
