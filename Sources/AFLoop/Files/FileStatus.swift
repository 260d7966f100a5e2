import CAFLinux

/// What the file system knows of a file or folder.
package struct FileStatus: Sendable {
    /// Which file it is, whatever it is called.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let inode: UInt64
    }

    package let identity: Identity
    package let size: Int64
    /// Nanoseconds since 1970.
    package let modified: Int64
    package let isRegular: Bool
    package let isFolder: Bool
    /// It is ours, and no other user may look into it or change it.
    package let isPrivate: Bool

    init(_ status: caf_file_status) {
        identity = Identity(device: status.device, inode: status.inode)
        size = status.size
        modified = status.modified_nanoseconds
        isRegular = status.is_regular
        isFolder = status.is_folder
        isPrivate = status.owner == caf_effective_user() && status.permissions & 0o077 == 0
    }

    /// Whether this is still the same file, and unchanged.
    package func isUnchanged(since earlier: FileStatus) -> Bool {
        identity == earlier.identity && size == earlier.size && modified == earlier.modified
    }
}
