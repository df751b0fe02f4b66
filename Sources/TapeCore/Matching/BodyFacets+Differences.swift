extension BodyFacets {
    /// In what a live body differs from a recorded one; empty where they are equal.
    public func differences(fromRecorded recorded: BodyFacets) -> [RequestDifference] { [] }
}
