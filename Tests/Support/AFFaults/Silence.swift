import CAFTestSupport

/// Peers that lose power.
package enum Silence {
    /// The other end of a connection within this process takes and says nothing any more. False if there is none.
    package static func fall(onOtherEndOf descriptor: Int32) -> Bool { caft_silence_other_end(descriptor) }
}
