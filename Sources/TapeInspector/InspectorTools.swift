package import CassetteModel
package import CassetteRedaction
package import CassetteTools
package import TapeBytes

/// What other parts of the program do for a page: those that redact, send, and answer.
///
/// Each may take long: not for an event loop.
package struct InspectorTools: Sendable {
    /// Where a secret is, or a placeholder would be.
    package struct FoundSecret: Sendable, Hashable {
        /// The exchange's place in the file, from 1.
        package var exchange: Int
        package var place: String
        /// Nil if it is in a body that is compressed or in a file.
        package var placeholder: String?
        /// Without secrets.
        package var excerpt: String

        package init(exchange: Int, place: String, placeholder: String?, excerpt: String) {
            self.exchange = exchange
            self.place = place
            self.placeholder = placeholder
            self.excerpt = excerpt
        }
    }

    /// What rules would do to a cassette.
    package struct RedactionTrial: Sendable {
        package var exchanges: Int
        package var changed: Int
        /// In all, of which the first are in `found`.
        package var places: Int
        package var found: [FoundSecret]

        package init(exchanges: Int, changed: Int, places: Int, found: [FoundSecret]) {
            self.exchanges = exchanges
            self.changed = changed
            self.places = places
            self.found = found
        }
    }

    /// A request that is sent again.
    package struct SendOrder: Sendable {
        /// As it is sent.
        package var interaction: Interaction
        /// What its answer is compared with.
        package var recorded: Interaction
        /// The cassette's path.
        package var path: String
        /// Whether methods that may change something are sent.
        package var allowsUnsafe: Bool
    }

    /// How it was answered.
    package struct SentAnswer {
        /// Nil if there was no answer.
        package var interaction: Interaction?
        /// What differs from the recorded answer.
        package var changes: [FieldChange]
        /// What went wrong, for people.
        package var notes: [String]
        /// The path of the cassette that the answer is in, which is there until the call returns.
        package var path: String

        package init(interaction: Interaction?, changes: [FieldChange], notes: [String], path: String) {
            self.interaction = interaction
            self.changes = changes
            self.notes = notes
            self.path = path
        }
    }

    /// Why a request is not sent.
    package struct NotSent: Error {
        package var reason: String
        /// Whether it is sent if unsafe methods are allowed.
        package var isUnsafe: Bool

        package init(reason: String, isUnsafe: Bool) {
            self.reason = reason
            self.isUnsafe = isUnsafe
        }
    }

    /// Makes a fresh SHA-256.
    package var digest: @Sendable () -> any ContentDigest = { PortableSHA256() }
    /// Why a replay could not send an answer; nil if it could.
    package var unanswerable: @Sendable (Interaction) -> String? = { _ in nil }
    /// What the rules of the cassette at a path would take out of an exchange that is not in it yet.
    package var secrets: @Sendable (_ interaction: Interaction, _ number: Int, _ path: String) throws -> [FoundSecret] = { _, _, _ in [] }
    /// What more rules would take out of a cassette, and where; nil if that cannot be told.
    package var tryRedaction: (@Sendable (_ path: String, _ rules: RedactionRules) throws -> RedactionTrial)?
    /// Sends a request; nil if this run sends nothing.
    package var send: (@Sendable (SendOrder, (SentAnswer) throws -> Void) throws -> Void)?
    /// Ends what is being sent, and all that would be sent later.
    package var stopSending: @Sendable () -> Void = {}

    package init() {}
}
