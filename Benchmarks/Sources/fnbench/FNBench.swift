import Harness

@main
struct FNBench {
    static func main() {
        let arguments = Arguments()
        arguments.refuseWhatIsMissing()
        arguments.measure(FoundationClient(arguments), named: "fnbench")
    }
}

extension Arguments {
    fileprivate func refuseWhatIsMissing() {
        if let style { refuse("there is one style only: remove --style \(style)") }
        if isPipelined { refuse("FoundationNetworking does not pipeline: leave --pipeline away") }
        if pins != nil { refuse("FoundationNetworking has no pins: leave --pins away") }
        if resumes { refuse("FoundationNetworking does not let TLS sessions be chosen: leave --resume away") }
        if let ca, !SystemTrust.consists(of: ca) { refuse(SystemTrust.advice(ca)) }
    }
}
