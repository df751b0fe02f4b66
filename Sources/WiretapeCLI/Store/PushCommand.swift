internal import ArgumentParser
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteRemote
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy
internal import TapeRecorder

struct PushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Store cassettes in object storage, and write their pointers.",
        discussion: """
            Each cassette is verified and searched for secrets first. Then its bodies, the cassette itself and a list of both are stored \
            under the SHA-256 of their bytes, so that what is there already is not sent again. The pointer FILE.tape is written last, and \
            names the cassette by its digest: commit it to git. A push that fails can be repeated; nothing that is read has changed.

            What is there is told by its name and size. --check reads it back, and stores again what is damaged.

            --shard also stores the pointers under the name of a run, for many machines that record at once: \
            "wiretape merge OUT s3://BUCKET/PREFIX/runs/RUN/" makes one cassette of theirs.

            A folder stands for all cassettes below it. Credentials come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
            AWS_SESSION_TOKEN, or from the profile in ~/.aws.

            Exit codes: 0 done, 1 failed, 6 a secret is in a cassette.

            Examples:
              wiretape push Cassettes/pets.json
              wiretape push Cassettes --dry-run
              wiretape push Cassettes/pets.json --check
              wiretape push shard.json --shard nightly-42
              wiretape push Cassettes --store s3://tapes/shop --endpoint https://s3.example.com
            """)

    @Argument(help: ArgumentHelp("Cassettes, or folders of them. Default: this folder.", valueName: "path"), completion: .file())
    var paths: [String] = ["."]

    @Flag(help: "Only print what would be stored.")
    var dryRun = false

    @Flag(help: "Read back what is in the store already, and store it again if it is damaged.")
    var check = false

    @Option(
        help: ArgumentHelp("The --grace of the store's collections: what they would remove soon is renewed. Default: 7d.", valueName: "age")
    )
    var grace = "7d"

    @Option(help: ArgumentHelp("Also add the cassettes to the run of this name, for a merge.", valueName: "run"))
    var shard: String?

    @Flag(help: "Store cassettes although secrets are in them: anyone who can read the store can read them.")
    var allowSecrets = false

    @OptionGroup(title: "Store") var options: StoreOptions

    func validate() throws {
        guard StoreCleanCommand.seconds(self.grace) != nil else { throw ValidationError("--grace takes a number with s, m, h or d: 7d.") }
        try Self.check(shard: self.shard)
    }

    static func check(shard: String?) throws {
        do throws(StoreError) { _ = try shard.map { (name) throws(StoreError) in try ShardedRun(name) } } catch {
            throw ValidationError("--shard: \(error.message)")
        }
    }

    func run() throws {
        SignalThread.end(saying: "ended: what was stored stays, and no pointer names it yet: run the command again.")
        try CommandEnd.run { try self.push() }
    }

    /// Does not touch signals, which belong to the process.
    ///
    /// - Returns: the exit code.
    func push() throws -> Int32 {
        let client = try self.options.client()
        guard client.isWritable else {
            throw StoreError(.unsupported, "\"\(client.address)\" is a web server, which is only read: push to an s3:// address.")
        }
        let cassettes = try StorePaths.cassettes(self.paths, pointers: false)
        guard !cassettes.isEmpty else {
            throw StoreError(
                .notFound, "there is no cassette in \(self.paths.map { "\"\($0)\"" }.joined(separator: ", ")): name one, or another folder."
            )
        }
        let push = CassettePush(
            client: client, cache: try StoreAccess.cache(), threads: self.options.jobs, tool: "wiretape \(Version.current)",
            grace: StoreCleanCommand.seconds(self.grace) ?? CassettePush.standardGrace, readsBack: self.check)
        let run = try self.shard.map { name throws(StoreError) in try ShardedRun(name) }
        var status = ExitStatus.done
        var sum = (cassettes: 0, objects: 0, bytes: 0)
        for cassette in cassettes {
            CareCommand.mentionRecordings(beside: cassette)
            let progress = StoreProgress("pushing \(cassette)")
            defer { progress.end() }
            do {
                let outcome = try push.push(cassette, isDry: self.dryRun, check: { try self.verify(cassette) }) {
                    progress.show($0, of: $1)
                }
                progress.end()
                Terminal.output.line(self.line(cassette, outcome))
                if let run, !self.dryRun {
                    try run.add(outcome.pointer, to: client)
                    Terminal.output.line("\"\(VisibleText.line(cassette))\": added to the run \"\(run.name)\".")
                }
                if outcome.stored > 0 { sum.cassettes += 1 }
                sum.objects += outcome.stored
                sum.bytes += outcome.storedBytes
            } catch let problem as Problem {
                progress.end()
                for line in problem.lines { Terminal.error.complain(line) }
                status = status == ExitStatus.done ? problem.status : min(status, problem.status)
            }
        }
        if cassettes.count > 1 {
            let verb = self.dryRun ? "would store" : "stored"
            Terminal.output.line(
                "\(verb) \(Quantity.count(sum.objects, "object")) of \(sum.cassettes) of \(Quantity.count(cassettes.count, "cassette")) (\(Quantity.bytes(sum.bytes))) in \(client.address)."
            )
        }
        return status
    }

    /// A cassette that is not pushed; others may be.
    private struct Problem: Error {
        var lines: [String]
        var status: Int32
    }

    private func line(_ cassette: String, _ outcome: CassettePush.Outcome) -> String {
        let name = "\"\(VisibleText.line(cassette))\""
        guard outcome.stored > 0 else {
            let renewed = outcome.renewed > 0 ? "; \(outcome.renewed) of them renewed" : ""
            return
                "\(name): nothing to store, \(Quantity.count(outcome.objects, "object")) \(outcome.objects == 1 ? "is" : "are") there\(renewed)."
        }
        let verb = self.dryRun ? "would store" : "stored"
        let repaired =
            outcome.repaired > 0 ? "; \(outcome.repaired) of them \(outcome.repaired == 1 ? "was" : "were") damaged in the store" : ""
        let pointer = outcome.changedPointer && !self.dryRun ? "; commit \"\(VisibleText.line(CassettePointer.path(of: cassette)))\"" : ""
        return
            "\(name): \(verb) \(outcome.stored) of \(Quantity.count(outcome.objects, "object")) (\(Quantity.bytes(outcome.storedBytes)))\(repaired)\(pointer)."
    }

    /// Whoever pulls it must be able to replay it, and must not find a secret in it.
    private func verify(_ cassette: String) throws {
        var problems: [String] = []
        let verifier = try CassetteVerifier(path: cassette, digest: CareCommand.digest, unanswerable: { ReplayCheck.problem(of: $0) })
        try verifier.run(progress: { _, _ in }) { finding in
            if finding.isProblem, finding.kind != .changedBody { problems.append(finding.text) }
        }
        if let first = problems.first {
            let more = problems.count > 1 ? ", and \(problems.count - 1) more" : ""
            throw Problem(
                lines: ["\"\(cassette)\" was not pushed: \(first)\(more). \"wiretape verify \(cassette)\" lists what is wrong."],
                status: ExitStatus.failed)
        }
        guard !self.allowSecrets else { return }
        let settings = try self.options.config.file()?.settings(for: cassette, in: ConfigSearch.workingFolder) ?? RunSettings()
        let rules = try settings.redactionRules(secret: EnvironmentSecret.value) ?? .standard
        let outcome = try CassetteRedaction.redact(cassette, rules: rules, version: Version.current, dryRun: true, digest: { FastSHA256() })
        guard outcome.changed > 0 || !outcome.leaks.isEmpty else { return }
        throw Problem(
            lines: [
                "\"\(cassette)\" was not pushed: secrets are in \(Quantity.count(max(outcome.changed, 1), "exchange")). See \"wiretape redact \(cassette) --dry-run\", remove them with \"wiretape redact \(cassette)\", or pass --allow-secrets."
            ], status: ExitStatus.leak)
    }
}
