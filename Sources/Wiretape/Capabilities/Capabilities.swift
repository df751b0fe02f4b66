/// What of URLSession works on this machine, what does not, and which calls end the process: read once, in this process.
///
/// Written `Wiretape.capabilities`. Of a mount namespace it says nothing: that takes a process of its own, as `wiretape doctor` starts.
public let capabilities = CapabilityReport(PlatformReading.facts())
