/// Runs a program where the system's bundles of roots are ours: a mount namespace of its own, in which our bundle lies over each.
///
/// For libraries that read no variable, as URLSession on Linux. Linux only, by the programs of util-linux; without root it takes a user
/// namespace as well, which some systems forbid.
enum PrivateTrust {
    /// The bundle, the files that it covers, `--`, the command.
    private static let script = """
        bundle=$1; shift
        while [ "$1" != -- ]; do mount --bind "$bundle" "$1" || exit 125; shift; done
        shift
        exec "$@"
        """

    /// The command line that runs `command` so. It stays the same process all along, so that signals reach the program.
    static func command(_ command: [String], bundle: String, files: [String], user: UInt32, group: UInt32) -> [String] {
        let inner = ["sh", "-c", self.script, "wiretape", bundle] + files + ["--"]
        guard user != 0 else { return ["unshare", "--mount"] + inner + command }
        // Root of the first namespace may mount; the second gives the program its own number back.
        return ["unshare", "--user", "--map-root-user", "--mount"] + inner
            + ["unshare", "--user", "--map-user=\(user)", "--map-group=\(group)", "--"] + command
    }

    /// Tries it with a program that does nothing, so that what the system forbids is told apart from the command's own failure.
    static func check(bundle: String, files: [String], user: UInt32, group: UInt32, environment: [String: String]) throws(TrustError) {
        guard !files.isEmpty else {
            throw TrustError("--private-trust finds no bundle of roots that it could cover: install the package ca-certificates.")
        }
        let probe = self.command(["true"], bundle: bundle, files: files, user: user, group: group)
        let status: Int32
        do throws(ChildProcess.StartError) {
            status = try ChildProcess(command: probe, environment: environment).wait()
        } catch {
            throw TrustError("--private-trust needs \"unshare\" and \"mount\": install the package util-linux.")
        }
        guard status == 0 else {
            throw TrustError(
                "--private-trust needs a mount namespace of its own, which this system does not permit: run as root, permit user namespaces, or leave it out and run \"wiretape ca install\"."
            )
        }
    }
}
