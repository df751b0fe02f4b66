/// One spelling of a secret that is searched for.
struct Needle: Sendable {
    enum Form: Sendable, Hashable {
        case plain
        /// The characters of base64 that no octet beside the secret has a part in, where so many octets of a group stand in front of it.
        case base64(alignment: Int)
        /// Pairs of hex digits.
        case hex
        /// UTF-16 of either order of octets, without the zero at its outer end.
        case wide
    }

    /// Which secret of the vault.
    var secret: Int32
    var form: Form
    /// Where its octets lie in the index.
    var start: Int
    /// How many of them must be there; those beyond only extend what is found.
    var length: Int
    var fullLength: Int
    /// Letters or digits beside it make it another word.
    var standsAlone: Bool
}
