import Foundation

/// Everything again and again: slopes of one kind after the other, or a mixed load.
///
///     afnet-soak slopes [--list] [--repetitions N] [--bar BYTES] [NAME ...]
///     afnet-soak run [--minutes N] [--connections N] [--output FOLDER]
///     afnet-soak serve    (the other side of both, which they start)
@main struct Soak {
    private struct Misuse: Error, CustomStringConvertible {
        let description: String
    }

    static func main() async {
        do {
            let problems = try await run(Array(CommandLine.arguments.dropFirst()))
            guard !problems.isEmpty else { return }
            for problem in problems { Terminal.say("WRONG: \(problem)") }
            exit(1)
        } catch {
            FileHandle.standardError.write(Data("afnet-soak: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ arguments: [String]) async throws -> [String] {
        var words = Words(arguments.dropFirst())
        switch arguments.first {
        case "serve":
            try OtherSide.serve()
            return []
        case "slopes":
            let isList = words.flag("--list")
            // For the tests of this program.
            let faulty = (words.flag("--leak") ? [Kind.leak] : []) + (words.flag("--misfit") ? [Kind.misfit] : [])
            let repetitions = try words.number("--repetitions", from: 40)
            let bar = try words.number("--bar", from: 1) ?? 8
            let kinds = try faulty.isEmpty ? chosen(words.rest()) : faulty
            if isList {
                for kind in kinds { Terminal.say(kind.name) }
                return []
            }
            let summary = try await SlopeRun.all(kinds, repetitions: Int(repetitions ?? 100_000), bar: bar)
            Terminal.say(summary.line)
            return summary.problems(isFull: repetitions == nil)
        case "run":
            let minutes = try words.number("--minutes", from: 0.1) ?? 10
            let connections = try words.number("--connections", from: 1) ?? 64
            let output = try words.value("--output") ?? "."
            guard try words.rest().isEmpty else { throw Misuse(description: "run takes no names") }
            let folder = URL(fileURLWithPath: output, isDirectory: true)
            return try await SoakRun(minutes: minutes, connections: Int(connections), output: folder).run()
        default: throw Misuse(description: "usage: slopes, run, or serve")
        }
    }

    /// Those whose names have one of these in them; all, if there are none.
    private static func chosen(_ names: [String]) throws -> [Kind] {
        guard !names.isEmpty else { return Kind.all }
        return try names.flatMap { name in
            let found = Kind.all.filter { $0.name.contains(name) }
            guard !found.isEmpty else { throw Misuse(description: "there is no kind \(name): see --list") }
            return found
        }
    }

    /// Arguments that are taken one by one.
    private struct Words {
        private var words: [String]

        init(_ words: ArraySlice<String>) {
            self.words = Array(words)
        }

        mutating func flag(_ name: String) -> Bool {
            guard let index = words.firstIndex(of: name) else { return false }
            words.remove(at: index)
            return true
        }

        mutating func value(_ name: String) throws -> String? {
            guard let index = words.firstIndex(of: name) else { return nil }
            guard index + 1 < words.count else { throw Misuse(description: "\(name) takes a value") }
            defer { words.removeSubrange(index...index + 1) }
            return words[index + 1]
        }

        mutating func number(_ name: String, from least: Double) throws -> Double? {
            guard let text = try value(name) else { return nil }
            guard let number = Double(text), number >= least, number <= 1e9 else {
                throw Misuse(description: "\(name) takes a number from \(least), not \(text)")
            }
            return number
        }

        func rest() throws -> [String] {
            if let option = words.first(where: { $0.hasPrefix("--") }) {
                throw Misuse(description: "there is no option \(option)")
            }
            return words
        }
    }
}
