internal import CassetteModel
internal import TapeExchange

/// An exchange between the tap and the cassette: its bodies still as they came off the wire.
///
/// Not Sendable: lives on the recorder thread, or on that of `PostponedSearch` while it is searched there.
struct LooseExchange {
    var interaction: Interaction
    var request: LooseBody?
    var response: LooseBody?
    /// What the tap says of each body.
    var notes: (request: String?, response: String?)
}
