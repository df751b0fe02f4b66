/// One line of a checkup: what was looked at, how it is, and what to do.
struct CheckupFinding: Hashable {
    enum Mark: String, Hashable {
        case ok
        /// As it is on many machines; good to know.
        case note
        /// Something that was set up and does not work.
        case problem
    }

    var mark: Mark
    var name: String
    /// A sentence without its full stop.
    var text: String
    var remedy: String?
}
