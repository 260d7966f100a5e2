import AFLoop
import Glibc

// What versions before this one left: a file for each response.
extension CacheFolder {
    private static let formerNames = ["AFURLSession-cache", "AFURLSession-cache-1", "AFURLSession-cache-2"]

    /// Removes so many files of former layouts, and their folders once they are empty.
    ///
    /// - Returns: Whether there may be more.
    func removeFormerLayouts(atMost limit: Int) -> Bool {
        var left = limit
        while let path = formerHomes.last {
            for name in CacheFolder.formerNames {
                // It is not there, or not ours, or the disk fails: a later process tries again.
                let isDone = try? CacheFolder.removeFormer(name, in: Folder(path: path), left: &left)
                if isDone == false { return true }
            }
            formerHomes.removeLast()
        }
        return false
    }

    /// - Returns: Whether all is removed that can be.
    private static func removeFormer(
        _ name: String,
        in parent: Folder,
        left: inout Int
    ) throws(SystemCallError) -> Bool {
        let former = try parent.folder(named: name)
        guard try former.status().isPrivate else { return true }
        let files = try former.listed(atMost: left, where: isFormerName)
        var removed = 0
        for file in files where try former.status(of: file).isRegular {
            try former.remove(file)
            removed += 1
        }
        left -= files.count
        // What is not a file stays, and so does its folder: there is nothing to come back for.
        if left <= 0, removed > 0 { return false }
        try parent.removeFolder(name)
        return true
    }

    /// 65 digits with a hyphen among them, or 32 digits that end in `.tmp`.
    private static func isFormerName(_ name: String) -> Bool {
        var bytes = Array(name.utf8)[...]
        if bytes.suffix(4).elementsEqual(".tmp".utf8) { bytes = bytes.dropLast(4) }
        let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { FileToken.isToken(String(decoding: $0, as: UTF8.self)) }
    }
}
