package import AFState
import AFTestSupport
import Dispatch
import Foundation

/// A public suffix list that is read when the test opens the gate.
package struct GatedSuffixes {
    package let source: PublicSuffixSource
    private let folder: ScratchFolder
    private let queue = DispatchQueue(label: "gate", attributes: .initiallyInactive)

    package init() throws {
        folder = try ScratchFolder()
        let file = folder.file("list")
        try Data("us\nde.us\nlib.de.us\norg\n".utf8).write(to: file)
        source = PublicSuffixSource(paths: [file.path], queue: queue)
    }

    /// Reads the list, and waits until everything that waited for it has been told.
    package func open() {
        queue.activate()
        queue.sync {}
    }
}
