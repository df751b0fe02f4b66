internal import Wiretape

/// What a trait or a call says of a cassette; nil and `automatic` are for others to say.
struct CassetteOptions: Sendable {
    var mode = TestMode.automatic
    var unused: UnusedRule?
    var order: ReplayOrder?
    var settings: CassetteSettings?

    /// These, and the other's where these say nothing.
    func over(_ other: CassetteOptions) -> CassetteOptions {
        CassetteOptions(
            mode: self.mode == .automatic ? other.mode : self.mode, unused: self.unused ?? other.unused, order: self.order ?? other.order,
            settings: self.settings ?? other.settings)
    }
}
