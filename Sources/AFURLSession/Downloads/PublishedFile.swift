import AFLoop
import Foundation
import Glibc

/// A complete download, under the name that its receiver gets.
struct PublishedFile: Sendable {
    private let folder: DownloadFolder
    private let name: String
    private let identity: FileStatus.Identity

    init(folder: DownloadFolder, name: String, identity: FileStatus.Identity) {
        self.folder = folder
        self.name = name
        self.identity = identity
    }

    var url: URL { URL(fileURLWithPath: "\(folder.path)/\(name)", isDirectory: false) }

    /// Removes the file, unless it was moved and another file has its name now.
    func removeIfThere() {
        guard let status = try? folder.folder.status(of: name), status.identity == identity else { return }
        try? folder.folder.remove(name)
    }
}
