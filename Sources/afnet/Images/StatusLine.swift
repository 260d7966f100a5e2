import AFImages
import Foundation

/// The line about the image that is being loaded: a spinner and a bar.
@MainActor final class StatusLine: ActivityIndicating, ProgressDisplaying {
    private static let signs = ["|", "/", "-", "\\"]
    private static let barWidth = 30
    private static let clear = "\r\u{1B}[K"

    let taskFollowing = TaskFollowing()
    let progressFollowing = ProgressFollowing()
    private let name: String
    private let write: (String) -> Void
    private var turning: Task<Void, Never>?
    private var progress: Float?
    private var turns = 0

    init(_ name: String, write: @escaping (String) -> Void) {
        self.name = TerminalText.escaped(name)
        self.write = write
    }

    func startAnimating() {
        guard turning == nil else { return }
        turning = Task { [weak self] in
            while !Task.isCancelled {
                guard let self else { return }
                draw()
                turns += 1
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    func stopAnimating() {
        guard let turning else { return }
        turning.cancel()
        self.turning = nil
        write(Self.clear)
    }

    func setProgress(_ progress: Float, animated: Bool) {
        self.progress = progress
    }

    private func draw() {
        write(Self.clear + Self.text(turns, progress, name))
    }

    static func text(_ turns: Int, _ progress: Float?, _ name: String) -> String {
        let sign = signs[turns % signs.count]
        guard let progress else { return "\(sign) \(name)" }
        let share = min(max(progress, 0), 1)
        let filled = Int(share * Float(barWidth))
        let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: barWidth - filled)
        return "\(sign) \(String(format: "%3d%%", Int(share * 100))) [\(bar)] \(name)"
    }
}
