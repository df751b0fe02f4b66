/// Takes one content coding off: pieces of coded octets of any size in, pieces of decoded octets out.
///
/// Keeps nothing it has delivered. No input traps: what is wrong with it is a status.
protocol CodingDecoder: AnyObject {
    /// `ended` as soon as octets come that do not belong to the coding any more; a whole stream at the end of the input ends with `finish`.
    var status: InflateStatus { get }
    /// Octets of input that belong to the coding so far. Where it failed, libraries may have looked at some octets more.
    var consumed: Int { get }
    /// Decoded octets delivered so far.
    var produced: Int { get }

    /// Takes the next piece. Unusable after `deliver` has thrown.
    func push(_ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows -> InflateStatus

    /// No more input comes: a stream that is not whole is truncated.
    func finish() -> InflateStatus
}
