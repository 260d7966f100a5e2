import AFTransport

/// Loads in place of a transfer: a class of the program, a `data:` URL or a file.
protocol TransferSubstitute: AnyObject, StopsWithLoad {
    func pause(_ reason: Transfer.Pauses)
    func unpause(_ reason: Transfer.Pauses)
}

/// What a step keeps and must let go when the load ends.
protocol StopsWithLoad {
    func stop()
}
