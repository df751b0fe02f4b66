internal import TapeCore

extension SessionOrder {
    /// The session that decides as it was ordered.
    func session(for cassette: RecordedCassette?) throws -> Session {
        Session(mode: self.mode, keys: cassette?.keys ?? RecordedKeys(), hasCassette: cassette != nil, repetition: self.repetition)
    }
}
