/// An error in the arguments of the probe, or an unexpected result.
struct ProbeError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
