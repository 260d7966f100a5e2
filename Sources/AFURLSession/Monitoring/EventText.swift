enum EventText {
    /// Control characters and line breaks as numbers.
    static func oneLine(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(isShown) else { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            if isShown(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return line
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        ShellText.isShown(scalar) && scalar != "\n" && scalar != "\t"
    }
}
