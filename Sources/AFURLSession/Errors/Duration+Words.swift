import AFLoop

extension Duration {
    package var inSeconds: Double { Double(saturatingNanoseconds) / 1e9 }

    /// The duration for people: two significant digits, and no fraction from ten seconds on.
    package var inWords: String {
        let seconds = inSeconds
        let parts: Double =
            switch seconds {
            case 9.95...: 1
            case 0.995...: 10
            case 0.0995...: 100
            default: 1000
            }
        let text = "\((seconds * parts).rounded() / parts)"
        let number = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        return number == "1" ? "1 second" : "\(number) seconds"
    }
}
