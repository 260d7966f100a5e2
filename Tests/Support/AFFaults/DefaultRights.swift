import CAFTestSupport

/// The list of rights that files get in a folder, in place of what the mask leaves them.
package enum DefaultRights {
    /// Lets everybody read and write what is made in a folder from now on, as far as its maker allows. Nothing happens
    /// where the file system has no such lists.
    package static func giveEverything(in folder: String) {
        caft_give_rights_by_default(folder)
    }
}
