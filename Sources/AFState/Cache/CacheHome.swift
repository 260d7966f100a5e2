/// Where a cache has its folder.
package struct CacheHome: Sendable, Equatable {
    /// The folder in which it makes its own.
    package let path: String
    /// How many folders of the path may be made, from its end on.
    package let levels: Int
    /// Where former revisions had their folders for the same cache. They are emptied.
    package let former: [String]

    package init(path: String, levels: Int, former: [String] = []) {
        self.path = path
        self.levels = levels
        self.former = former
    }

    /// A folder that the program itself has named: all that its path lacks may be made.
    package init(namedByProgram path: String) {
        self.init(path: path, levels: .max)
    }
}
