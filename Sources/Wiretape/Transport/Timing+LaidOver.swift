internal import CassetteModel

extension Timing {
    /// The phases that the platform measured; those of the tape where it did not.
    func laidOver(_ taped: Timing) -> Timing {
        var timing = taped
        timing.blocked = self.blocked ?? taped.blocked
        timing.dns = self.dns ?? taped.dns
        timing.connect = self.connect ?? taped.connect
        timing.tls = self.tls ?? taped.tls
        timing.send = self.send ?? taped.send
        timing.wait = self.wait ?? taped.wait
        timing.receive = self.receive ?? taped.receive
        timing.total = self.total ?? taped.total
        return timing
    }
}
