import AFLoop
import Foundation
import Glibc

/// A complete download, under the name that its receiver gets.
struct PublishedFile: Sendable {
    let folder: DownloadFolder
    let token: String
    private let identity: FileStatus.Identity

    init(folder: DownloadFolder, token: String, identity: FileStatus.Identity) {
        self.folder = folder
        self.token = token
        self.identity = identity
    }

    var name: String { token + DownloadFolder.Kind.done.rawValue }
    var url: URL { URL(fileURLWithPath: "\(folder.path)/\(name)", isDirectory: false) }

    /// Opens the file, to go on with it.
    func reopened() throws(SystemCallError) -> DiskFile {
        let file = try folder.folder.openFile(named: name)
        guard try file.status().identity == identity else { throw SystemCallError(.open, code: ENOENT) }
        return file
    }

    /// Removes the file, unless it was moved and another file has its name now.
    func removeIfThere() {
        guard let status = try? folder.folder.status(of: name), status.identity == identity else { return }
        try? folder.folder.remove(name)
    }
}
