/// What the program says of itself.
enum Usage {
    static let version = "0.1-dev"
}
