import Testing

@testable import CassetteRedaction

/// Commands whose secret follows no flag, comes from the standard input, or follows a flag of a less frequent program.
@Suite struct SubcommandPlacesTests {
    @Test(arguments: [
        "vault login h7nter2Xq", "$ vault login -no-print h7nter2Xq", "cargo login h7nter2Xq", "bw login ada@x.test h7nter2Xq",
        "doppler secrets set FOO h7nter2Xq", "dotnet user-secrets set Foo h7nter2Xq", "flyctl secrets set FOO=h7nter2Xq",
        "fly secrets set FOO=h7nter2Xq BAR=h7nter2Xq", "firebase functions:config:set stripe.key=\"h7nter2Xq\"",
        "mc alias set m http://h ada h7nter2Xq", "composer config --global github-oauth.github.com h7nter2Xq",
        "composer config http-basic.r.test ada h7nter2Xq",
        "poetry config pypi-token.pypi h7nter2Xq", "bundle config set gems.test ada:h7nter2Xq", "pulumi config set --secret foo h7nter2Xq",
        "npm config set _auth h7nter2Xq",
    ])
    func argumentsOfSubcommands(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "aws configure set aws_secret_access_key h7nter2Xq", "aws --profile x configure set default.aws_secret_access_key h7nter2Xq",
        "aws configure set aws_session_token \"h7nter2Xq\"", "npm config set //r/:_authToken h7nter2Xq",
        "pnpm set //r.test/:_authToken h7nter2Xq",
        "npm config set //r.test/:_password \"h7nter2Xq\"", "yarn config set npmRegistries.x.npmAuthToken h7nter2Xq",
        "git config --global user.password h7nter2Xq", "git config github.token h7nter2Xq", "gcloud config set auth/access_token h7nter2Xq",
        "doppler configure set token h7nter2Xq", "netlify env:set API_KEY h7nter2Xq", "dotnet user-secrets set ApiKey h7nter2Xq",
        "pulumi config set dbPassword h7nter2Xq", "rclone config create r s3 secret_access_key h7nter2Xq", "ngrok authtoken h7nter2Xq",
    ])
    func settingsUnderAName(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "gh auth login --with-token <<< h7nter2Xq", "gh auth login --with-token <<< \"h7nter2Xq\"",
        "echo h7nter2Xq | gh auth login --with-token",
        "echo \"h7nter2Xq\" | docker login -u ada --password-stdin r", "echo -n h7nter2Xq | docker login --password-stdin",
        "printf '%s' \"h7nter2Xq\" | docker login --password-stdin", "echo \"h7nter2Xq\" | gcloud secrets create s --data-file=-",
        "wrangler secret put X <<< h7nter2Xq", "echo h7nter2Xq | npx wrangler secret put X",
        "echo \"h7nter2Xq\" | docker secret create s -",
        "echo h7nter2Xq | gpg --batch --passphrase-fd 0 -d a", "echo \"h7nter2Xq\" | sudo -S apt",
        "echo \"h7nter2Xq\" | passwd --stdin ada",
    ])
    func standardInput(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "httpie --auth ada:h7nter2Xq h", "xhs -a ada:h7nter2Xq h", "curlie -u ada:h7nter2Xq h", "ab -A ada:h7nter2Xq u",
        "ngrok http --basic-auth \"ada:h7nter2Xq\" 80", "skopeo copy --src-creds ada:h7nter2Xq a b", "podman pull --creds=ada:h7nter2Xq a",
        "etcdctl --user root:h7nter2Xq get k", "doctl auth init -t h7nter2Xq", "doctl compute droplet list -t h7nter2Xq",
        "flyctl -t h7nter2Xq deploy", "vercel -t h7nter2Xq", "netlify deploy --auth h7nter2Xq", "gh secret set FOO --body h7nter2Xq",
        "gh secret set FOO -b\"h7nter2Xq\"", "az keyvault secret set --vault-name v -n n --value \"h7nter2Xq\"",
        "az storage blob list --sas-token \"h7nter2Xq\"", "kubectl create secret generic s --from-literal=k=h7nter2Xq",
        "kubectl create secret generic s --from-literal=user=ada --from-literal k=h7nter2Xq",
        "kubectl create secret generic s --from-literal=foo=\"h7nter2Xq\"", "twine upload -u __token__ -p h7nter2Xq d",
        "poetry publish -u ada -p h7nter2Xq", "hatch publish -u ada -a h7nter2Xq", "keytool -list -storepass h7nter2Xq",
        "plink -pw h7nter2Xq h", "isql -U sa -P h7nter2Xq", "cypher-shell -u neo4j -p h7nter2Xq", "ldappasswd -s h7nter2Xq cn=a",
        "usermod -p \"h7nter2Xq\" ada", "security unlock-keychain -p h7nter2Xq k", "ssh-keygen -t rsa -N h7nter2Xq -f k",
        "mysql -p'h7nter2Xq' db", "snmpwalk -v2c -c h7nter2Xq h", "mvn deploy -Dpassword=h7nter2Xq", "java -Ddb.token=h7nter2Xq -jar x",
        "travis login --github-token h7nter2Xq", "wmic /node:h /user:a /password:h7nter2Xq x",
    ])
    func furtherPrograms(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "git remote add o https://ada:h7nter2Xq@h/r.git", "git push https://oauth2:h7nter2Xq@gitlab.test/a/b",
        "pip install --index-url https://ada:h7nter2Xq@pypi.test/simple x",
        "pip config set global.index-url https://ada:h7nter2Xq@pypi.test/simple",
        "heroku config:set API_KEY=h7nter2Xq", "docker build --build-arg NPM_TOKEN=h7nter2Xq .", "docker login -ph7nter2Xq r",
        "az login --service-principal -u id -p h7nter2Xq --tenant t",
    ])
    func commandsThatOtherPlacesCover(text: String) { HiddenPlace.check(text, type: "text/plain") }

    @Test(arguments: [
        "aws configure set region us-east-1", "npm config set registry https://r.test/a1b2c3", "git config user.name ada12345",
        "vault login",
        "vault login -method=oidc role=dev12345", "vault kv get secret/path2abc", "gh auth login --with-token < token2.txt",
        "gh repo view ada12345/x", "az vm create -n vm12345678 --value abc12345d", "doctl compute droplet create droplet12345",
        "heroku config:set NODE_ENV=production2", "docker run -p 8080:8080 i", "docker tag abc123def456 x",
        "kubectl get secret db-credentials-1",
        "kubectl create configmap c --from-literal=color=blue12345", "kubectl logs -p pod12345a", "echo abc123def | wc",
        "echo abc12345 | docker build -",
        "cf push app12345x", "mc cp file12345 m/b", "rabbitmqctl list_queues queue12345", "rabbitmqctl add_vhost vhost12345",
        "ssh-keygen -t ed25519 -f key12345a", "snmpwalk -v2c host12345", "useradd -m ada12345", "sqlplus /nolog2",
        "sqlplus ada/$PW12345@db",
        "pip install -i https://pypi.test/simple2 x", "pulumi config set foo bar12345", "dotnet run -p proj12345",
        "netlify env:set NODE_ENV prod12345",
        "glab mr create -t title12345", "fly deploy -a app12345x", "composer config repo.x https://r.test/a1b2c3d4",
        "poetry config virtualenvs.path venv12345", "bundle config path vendor12345", "set the table for 12345678 guests",
    ])
    func commandsWithoutASecret(text: String) { HiddenPlace.stays(text, type: "text/plain") }
}
