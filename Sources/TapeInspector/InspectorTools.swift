package import CassetteModel
package import CassetteRedaction
package import TapeBytes

/// Functions from other parts of the program that a page uses to redact, send and check answers.
///
/// Each may take long, so none may be called on an event loop. Each ends early if its thread's work is cancelled (`WorkCancellation`).
package struct InspectorTools: Sendable {
    /// Makes a fresh SHA-256.
    package var digest: @Sendable () -> any ContentDigest = { PortableSHA256() }
    /// Why a replay could not send an answer; nil if it could.
    package var unanswerable: @Sendable (Interaction) -> String? = { _ in nil }
    /// The secrets that the rules of the cassette at a path would redact in an exchange that is not in it yet.
    package var secrets: @Sendable (_ interaction: Interaction, _ number: Int, _ path: String) throws -> [RedactionService.Found] = {
        _, _, _ in []
    }
    /// What additional rules would redact in a cassette, and where; nil if that cannot be determined.
    package var tryRedaction: (@Sendable (_ path: String, _ rules: RedactionRules) throws -> RedactionService.Trial)?
    /// Sends a request; nil if this run sends nothing.
    package var send: (@Sendable (SendService.Order, (SendService.Answer) throws -> Void) throws -> Void)?

    /// Makes a private folder for files that were dropped on the page, in memory if possible; nil if the page opens no files.
    package var folder: (@Sendable () throws -> PrivateFolder)?
    /// Makes a cassette of recordings of other tools, and returns what it could not keep, for people.
    package var importRecordings: (@Sendable (_ files: [String], _ path: String, _ progress: ImportProgress) throws -> [String])?
    /// Starts a recording into a new cassette at a path; nil if the page starts none.
    package var record: (@Sendable (_ path: String) throws -> PageRecording)?

    package init() {}
}

/// How far an import has come. Any thread may use it.
package final class ImportProgress: Sendable {
    private let state = Guarded<(count: Int, isCancelled: Bool)>((0, false))

    package init() {}

    /// The number of exchanges that have been read.
    var count: Int { self.state.withLock { $0.count } }

    /// Whether nobody waits for the import any more.
    package var isCancelled: Bool { self.state.withLock { $0.isCancelled } }

    package func read(_ count: Int) { self.state.withLock { $0.count = count } }

    func cancel() { self.state.withLock { $0.isCancelled = true } }
}

/// A folder that only this user can read, until it is removed with its contents.
package struct PrivateFolder: Sendable {
    package var path: String
    package var remove: @Sendable () -> Void

    package init(path: String, remove: @escaping @Sendable () -> Void) {
        self.path = path
        self.remove = remove
    }
}

/// A recording that was started from the page.
package struct PageRecording: Sendable {
    /// `127.0.0.1:8080`, for the client's proxy setting.
    package var address: String
    package var run: InspectedRun
    /// Stops the proxy, and closes the cassette. For a thread that may block.
    package var stop: @Sendable () throws -> Void

    package init(address: String, run: InspectedRun, stop: @escaping @Sendable () throws -> Void) {
        self.address = address
        self.run = run
        self.stop = stop
    }
}
