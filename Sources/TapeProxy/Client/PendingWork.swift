internal import TapeCore

/// A body on its way to being compared, handed from the event loop to a thread that may wait for the disk.
///
/// SAFETY: the event loop fills it, then gives it to one thread and does not touch it again, so that no two threads meet here.
final class PendingWork: @unchecked Sendable {
    private let session: CassetteSession
    private let pending: PendingRequest
    private var body: PendingBody?
    private var facets: BodyFacets?

    init(session: CassetteSession, pending: PendingRequest) {
        self.session = session
        self.pending = pending
        self.body = pending.body()
    }

    func push(_ octets: UnsafeRawBufferPointer) { self.body?.push(octets) }

    private func finished() -> BodyFacets {
        if let facets { return facets }
        let facets = self.body.take()?.finish() ?? BodyFacets.none
        self.facets = facets
        return facets
    }

    /// What can be said without the disk; nil where that is nothing.
    func decideNow() -> Decision? { self.session.decide(self.pending, body: self.finished()) }

    /// May wait for the disk.
    func decide() -> Result<Decision, CassetteError> {
        do throws(CassetteError) {
            return .success(try self.session.resolve(self.pending, body: self.finished()))
        } catch {
            return .failure(error)
        }
    }

    /// Whether the body need not be asked for. May wait for the disk.
    func decideUnasked() -> Result<Decision?, CassetteError> {
        do throws(CassetteError) {
            return .success(try self.session.decideUnasked(self.pending))
        } catch {
            return .failure(error)
        }
    }
}
