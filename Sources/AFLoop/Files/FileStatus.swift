import CAFLinux
import Glibc

/// What the file system knows of a file or folder.
package struct FileStatus: Sendable {
    /// Which file it is, whatever it is called.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let inode: UInt64
    }

    package let identity: Identity
    package let size: Int64
    /// How many bytes it takes on the disk.
    package let allocated: Int64
    /// Whether it has no name any more: it was removed while it was open.
    package let isRemoved: Bool
    /// Nanoseconds since 1970.
    package let modified: Int64
    package let isRegular: Bool
    package let isFolder: Bool
    private let owner: UInt32
    private let permissions: UInt32

    init(_ status: caf_file_status) {
        identity = Identity(device: status.device, inode: status.inode)
        size = status.size
        allocated = status.allocated
        isRemoved = status.links == 0
        modified = status.modified_nanoseconds
        isRegular = status.is_regular
        isFolder = status.is_folder
        owner = status.owner
        permissions = status.permissions
    }

    /// Its owner is the user as whom this process acts.
    package var isOurs: Bool { owner == caf_effective_user() }
    /// It is ours, and no other user may look into it or change it.
    package var isPrivate: Bool { permissions & 0o077 == 0 && isOurs }

    /// Whether this is still the same file, and unchanged.
    package func isUnchanged(since earlier: FileStatus) -> Bool {
        identity == earlier.identity && size == earlier.size && modified == earlier.modified
    }
}
