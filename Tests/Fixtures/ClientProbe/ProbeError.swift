/// What is wrong with how the probe was called, or with what it found.
struct ProbeError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
