public import TapeBytes
internal import CassetteModel
public import CassettePlayback

/// How dates of answers move.
extension RunSettings {
    /// Nil where they stay as they were recorded.
    ///
    /// - Parameter now: when the replay begins.
    ///
    /// Throws for places that are none.
    public func dateRefresh(of cassette: RecordedCassette?, now: Timestamp) throws -> DateRefresh? {
        guard self.refreshesDates else { return nil }
        let shift = DateShift(from: cassette?.firstStart ?? now, to: now)
        return DateRefresh(try RefreshRules(self.refreshFields.map(\.value)), shift: shift)
    }
}
