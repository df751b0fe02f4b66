/// Which message of an exchange a body belongs to.
enum MessageChoice: String, Sendable, CaseIterable {
    case request, response
}
