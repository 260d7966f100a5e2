struct BuilderPathTests {
    @Test func `T-API-35 no source of ours asks for the path of its file`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }

        for path in paths {
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            #expect(!text.contains("#filePath"), "\(path)")
            #expect(!text.replacing("#fileID", with: "").contains("#file"), "\(path)")
        }
        #expect(paths.count > 100)
    }
}
