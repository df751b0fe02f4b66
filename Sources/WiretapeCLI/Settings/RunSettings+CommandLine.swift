internal import ArgumentParser
internal import TapeProxy

extension RunSettings {
    /// Throws where the command line's words make no sense with all the others.
    func check(assumesYes: Bool = false) throws {
        if self.onExpired?.source == .commandLine, self.maxAge == nil {
            throw ValidationError("--on-expired is for a cassette that is older than --max-age: give that too.")
        }
        if self.refreshFields.contains(where: { $0.source == .commandLine }), !self.refreshesDates {
            throw ValidationError("--refresh-field is for dates that --refresh-dates moves: give both.")
        }
        if assumesYes, !self.reviews { throw ValidationError("--yes answers --review: give both.") }
    }
}
